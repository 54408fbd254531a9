/** The nonce of this page: a stylesheet added by a script must have it. */
export function styleNonce(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')
  return meta?.nonce || meta?.getAttribute('nonce') || meta?.content || ''
}

/** Passes the nonce to the library that locks scrolling behind a dialog. */
export function provideNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
