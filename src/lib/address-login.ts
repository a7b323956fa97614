// Addresses that say who asks: `https://user:password@host`. They end up in files that everybody may read.

const WITH_LOGIN = /[a-z][a-z\d+.-]*:\/\/[^\s/?#]*@/iu

/** Whether an address, or one in a line of text, has a user or a password in it. */
export function hasLogin(text: string): boolean {
  return WITH_LOGIN.test(text)
}
