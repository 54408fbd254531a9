/** The nonce that the service gave this page: a stylesheet made by a script must carry it. */
export function styleNonce(): string {
  const meta = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')
  return meta?.nonce || meta?.getAttribute('nonce') || meta?.content || ''
}

/** Tells the library that locks scrolling behind a dialog, which looks for the nonce under this name. */
export function takeNonce(): void {
  Object.assign(globalThis, { __webpack_nonce__: styleNonce() })
}
