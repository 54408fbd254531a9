/** The decimal separator. */
export type Decimal = '.' | ','

const CURRENCY =
  /[$€£¥₹₽₺₩₪₴฿]|\b(?:USD|EUR|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|RON|BRL|MXN|ZAR|TRY|RUB|KRW|SGD|HKD|ILS|AED|SFr|Fr|kr|Rs)\b\.?|(?<=\d\s?)(?:zł|Kč|Ft)/giu
const GROUPED_BY_SPACE = /^(-?)(\d{1,3}(?:[\s'’]\d{3})+)([.,]\d+)?$/
const NUMBERS = { '.': /^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/, ',': /^-?(\d+|\d{1,3}(\.\d{3})+)(,\d+)?$/ } as const
const PLAIN_NUMBER = /^-?\d+(\.\d+)?$/
/** Longer cells are no numbers, and are not searched for one. */
const LENGTH_MAX = 60
/** With more digits, a JSON number would not be exact. */
const DIGITS_MAX = 15

/** The digits and separators of a cell, without its currency, percent sign and spaces between thousands. */
function coreOf(cell: string): { core: string; isMoney: boolean } {
  if (cell.length > LENGTH_MAX) return { core: '', isMoney: false }
  const money = cell.replace(CURRENCY, '')
  const isMoney = money.length < cell.length
  let core = money
    .replace(/[\u00a0\u202f\u2009]/g, ' ')
    .replace(/\s*%$/, '')
    .replace(/[−–](?=\d)/, '-')
    .trim()
  // "250.-" and "250,–" have no cents.
  core = core.replace(/[.,][-–—]+$/, '')
  const negative = /^\((.*)\)$/.exec(core) ?? /^(.*\d)-$/.exec(core)
  if (negative) core = `-${(negative[1] ?? '').trim()}`
  core = core.replace(/^([+-])\s+/, '$1').replace(/^\+/, '')
  const grouped = GROUPED_BY_SPACE.exec(core)
  if (grouped) core = `${grouped[1]}${(grouped[2] ?? '').replace(/\D/g, '')}${grouped[3] ?? ''}`
  return { core, isMoney }
}

/** The number in a cell; null if there is none. A number that starts with a zero is a `code`, and so is a long one. */
export function numberOf(cell: string, decimal: Decimal): number | 'code' | null {
  const { core } = coreOf(cell)
  const isGrouped = NUMBERS[decimal].test(core)
  if (!isGrouped && !PLAIN_NUMBER.test(core)) return null
  if (/^-?0\d/.test(core) || core.replace(/\D/g, '').length > DIGITS_MAX) return 'code'
  if (!isGrouped) return Number(core)
  const [group, point] = decimal === ',' ? ['.', ','] : [',', '.']
  return Number(core.replaceAll(group, '').replace(point, '.'))
}

/** The decimal separator that a cell shows; `either`: `1,250` may be thousands or not. null if it has no separator. */
export function decimalShownBy(cell: string): Decimal | 'either' | null {
  const { core, isMoney } = coreOf(cell)
  const separators = core.replace(/[^.,]/g, '')
  const last = separators.at(-1) as Decimal | undefined
  if (last === undefined || !/^-?\d[\d.,]*$/.test(core)) return null
  const other: Decimal = last === ',' ? '.' : ','
  if (separators.includes(other)) return last
  if (separators.length > 1) return other
  const [whole = '', rest = ''] = core.replace('-', '').split(last)
  if (rest.length !== 3 || whole.length > 3 || whole === '0') return last
  // Money has two decimals.
  return isMoney ? other : 'either'
}
