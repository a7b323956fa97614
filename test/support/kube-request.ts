// One request to a Kubernetes API, JSON both ways.

import { type Agent, request } from 'node:https'
import { json, text } from 'node:stream/consumers'

/** A patch merges unless another type of content is given. */
export function requestJson<Answer>(
  agent: Agent,
  url: URL,
  method: string,
  body?: object,
  contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': contentType }
    const sent = request(url, { agent, method, headers }, (response) => {
      const { statusCode = 0 } = response
      if (statusCode >= 200 && statusCode < 300) {
        const isJson = response.headers['content-type']?.startsWith('application/json') === true
        resolve((isJson ? json(response) : text(response)) as Promise<Answer>)
      } else {
        const refused = (answer: string) => new Error(`${method} ${url.pathname}: ${statusCode} ${answer}`)
        text(response).then((answer) => reject(refused(answer)), reject)
      }
    })
    sent.once('error', reject)
    sent.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
