import { ServiceError } from '../platform/errors.ts'
import { isObject } from '../platform/is-object.ts'
import { amplitude } from './amplitude.ts'
import type { Format } from './format.ts'
import { mixpanel } from './mixpanel.ts'
import { eventOfRow, native } from './native.ts'
import { posthog } from './posthog.ts'
import { segment } from './segment.ts'

/** By name, in the order in which they are recognized. */
const FORMATS = { segment, posthog, mixpanel, amplitude, native }
export type FormatName = keyof typeof FORMATS
export const FORMAT_NAMES = Object.keys(FORMATS) as FormatName[]

export function isFormatName(name: string): name is FormatName {
  return Object.hasOwn(FORMATS, name)
}

/** The format of a file, by its columns or from a file of JSON. */
export function formatOf(name: FormatName, isCsv: boolean): Format {
  if (name !== 'native' || !isCsv) return FORMATS[name]
  return { ...native, toCall: (row, warnings) => native.toCall(eventOfRow(row), warnings) }
}

/** Recognizes the format by the first line that only one can have. @throws ServiceError 400 `unknown_format`. */
export function recognize(fileName: string, lines: readonly unknown[]): FormatName {
  for (const line of lines) {
    const name = isObject(line) ? FORMAT_NAMES.find((each) => FORMATS[each].matches(line)) : undefined
    if (name !== undefined) return name
  }
  const message = `${fileName}: its format is not recognized from its first lines. Name it with --format: ${FORMAT_NAMES.join(', ')}.`
  throw new ServiceError(400, 'unknown_format', message)
}
