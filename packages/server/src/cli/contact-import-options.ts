import { type Encoding, isDelimiter, isEncoding } from '../imports/encoding.ts'
import type { Values } from './command.ts'

/** What is wrong with the options that say how a file of contacts is written; null if nothing is. */
export function problemOfFormat(values: Values): string | null {
  const { encoding, delimiter, 'header-line': line } = values
  if (encoding !== undefined && !isEncoding(String(encoding))) {
    return '--encoding must be one of those of PUT /v1/imports/:import_id/format, such as utf-8, windows-1252 or macintosh'
  }
  if (delimiter !== undefined && !isDelimiter(delimiterOf(delimiter))) {
    return '--delimiter must be one character that is no letter, digit or quotation mark; tab is a tab'
  }
  return line === undefined || /^\d{1,4}$/.test(String(line)) ? null : '--header-line must be a whole number'
}

/** How a file of contacts is written, as far as the options say. */
export function chosenFormat({ encoding, delimiter, 'header-line': line }: Values) {
  return {
    encoding: encoding === undefined ? undefined : (String(encoding) as Encoding),
    delimiter: delimiter === undefined ? undefined : delimiterOf(delimiter),
    headerLine: line === undefined ? undefined : Number(line),
  }
}

function delimiterOf(option: Values[string]): string {
  return option === 'tab' || option === '\\t' ? '\t' : String(option)
}
