import { parseEmail } from '../platform/email.ts'

/** What Outlook and databases write if there is no date. */
const NO_DATE = /^(?:0{4}-00-00|00?[./-]00?[./-](?:0{4}|00))(?:[ T]00:00(?::00)?)?$/

/** The value in a cell, without what spreadsheets and exports write around it. */
export function contentOf(cell: string): string {
  const text = cell.trim()
  // Excel keeps the zeros of ="0170".
  const formula = /^="((?:[^"]|"")*)"$/.exec(text)
  if (formula) return (formula[1] ?? '').replaceAll('""', '"').trim()
  // An apostrophe marks a number as text; our downloads put one before texts that a spreadsheet would evaluate.
  const isMarked = /^'[=+\-@]/.test(text) || (/^'[\d\s.,/()-]+$/.test(text) && /\d/.test(text))
  // An address may begin with an apostrophe, but no real one does.
  if (isMarked || /^'[^'\s@]+@[^'\s]+$/.test(text)) return text.slice(1).trim()
  return NO_DATE.test(text) ? '' : text
}

const BETWEEN_ADDRESSES = /:::|[,;|\r\n]/

/**
 * The address in a cell, also in `mailto:ada@example.com` and `Ada <ada@example.com>`. Some exports list all addresses
 * of a person in one cell; the first is the main one.
 */
export function emailOf(cell: string): string | null {
  const whole = addressIn(cell)
  if (whole !== null) return whole
  if (!cell.includes('@')) return null
  for (const part of cell.split(BETWEEN_ADDRESSES)) {
    const address = addressIn(part)
    if (address !== null) return address
  }
  return null
}

function addressIn(text: string): string | null {
  const inBrackets = /<([^<>]*)>\s*$/.exec(text)?.[1] ?? text
  // Google marks the first of several with an asterisk.
  return parseEmail(inBrackets.replace(/^\s*(?:\*\s+)?(?:mailto:)?/i, '').replace(/\?.*$/s, ''))
}
