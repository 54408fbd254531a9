/** Whether a text is a time zone of the IANA database, such as `Europe/Berlin`. Offsets alone are not: they know no summer time. */
export function isTimeZone(text: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(text)) return false
  try {
    new Intl.DateTimeFormat('en', { timeZone: text })
    return true
  } catch {
    return false
  }
}
