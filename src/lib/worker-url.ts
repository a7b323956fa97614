// The file a worker thread starts from: the TypeScript source in a checkout, its compiled twin in an installed package.

/** `name` without extension, beside the module whose import.meta.url is given. */
export function workerUrl(name: string, moduleUrl: string): URL {
  return new URL(`./${name}${moduleUrl.endsWith('.ts') ? '.ts' : '.js'}`, moduleUrl)
}
