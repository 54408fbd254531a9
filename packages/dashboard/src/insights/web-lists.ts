import { countryName } from '../ui/whereabouts.ts'
import { text } from './web-text.ts'

/** The cards of the page, each with its lists. */
export const CARDS = {
  source: ['source', 'utm_campaign', 'utm_source', 'utm_medium', 'utm_content', 'utm_term'],
  page: ['page', 'entry_page', 'exit_page'],
  country: ['country', 'region', 'city'],
  browser: ['browser', 'os', 'device_type'],
} as const
export type CardName = keyof typeof CARDS
export type ListName = (typeof CARDS)[CardName][number]
/** The lists that are shown at first: that of the first tab of each card. */
export const FIRST_LISTS: ListName[] = Object.values(CARDS).map(([first]) => first)
/** A value of a list; null has no name: a visit without a referrer, an unknown country. */
export type RowValue = string | null

const LIST_NAMES: readonly string[] = Object.values(CARDS).flat()

export function isListName(value: unknown): value is ListName {
  return typeof value === 'string' && LIST_NAMES.includes(value)
}

/** A value of a list, as people say it. */
export function rowName(list: ListName, value: RowValue): string {
  if (value === null || value === '') return list === 'source' ? text.direct : text.noValue
  if (list === 'country') return countryName(value)
  return list === 'device_type' ? (text.devices[value] ?? value) : value
}
