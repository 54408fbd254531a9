/** Why a request failed, if the service does not say it. */
export const text = {
  none: 'The service did not respond. Check your connection; it may still be starting.',
  signedOut: 'Your session has ended. Sign in again in another tab, then retry: what you typed here is kept.',
  tooMany: 'Too many requests in a short time. Wait a moment and try again.',
  status: (status: number) => `The service returned status ${status}.`,
}
