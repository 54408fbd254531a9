import { dataItems, eventPropertyNamed } from '../conditions/event-property.ts'
import { CONTACT_OF_EVENT, NOBODY, PERSON_OF_EVENT } from '../platform/clickhouse/owner-links.ts'
import type { QueryParameters } from '../platform/clickhouse/parameters.ts'
import { type Measure, type Metric, needsNumbers } from './measure.ts'
import { DIGITS_OF_ITEM } from './phone-numbers.ts'

/*
 * Figures of events, in ClickHouse.
 */

/** A JSON text of a number, such as `"12"`, as `numeric_property` reads them in PostgreSQL. */
const NUMERIC_TEXT = String.raw`^"(?:\\s|\\\\[tnrf])*([+-]?(?:[0-9]{1,30}(?:\\.[0-9]{0,30})?|\\.[0-9]{1,30}))(?:\\s|\\\\[tnrf])*"$`

/** The path in an event's data that a measure's field names. A name without `data.` is a key, dots and all. */
export function pathOfField(field: string): readonly string[] {
  const property = eventPropertyNamed(field)
  return property?.kind === 'data' ? property.path : [field]
}

/** SQL with the values of its placeholders. */
interface Numbers {
  /** The list of an event's numbers as texts. */
  texts: string
  parameters: QueryParameters
}

/** The numbers at the field, and in texts there: numbers beyond 2^53 are kept as texts. Other values are passed over. */
function numbersOf({ field, redaction }: Measure): Numbers {
  const { sql: items, parameters } = dataItems(pathOfField(field), 'measured')
  // The JSON of numbers begins with a digit or a minus; that of other values does not.
  const isNumber = `item >= '-' AND item < ':'`
  if (redaction) {
    // Texts do not count: they may be phone numbers with a leading zero.
    const texts = `arrayFilter(item -> ${isNumber} AND ${DIGITS_OF_ITEM} NOT IN {phone_numbers: Array(String)}, ${items})`
    return { texts, parameters: { ...parameters, phone_numbers: redaction.phoneNumbers } }
  }
  const inTexts = `arrayMap(item -> extract(item, '${NUMERIC_TEXT}'), arrayFilter(item -> startsWith(item, '"'), ${items}))`
  const texts = `arrayConcat(arrayFilter(item -> ${isNumber}, ${items}), arrayFilter(item -> item != '', ${inTexts}))`
  return { texts, parameters }
}

const FLOATS = (texts: string) => `arrayMap(item -> toFloat64OrZero(item), ${texts})`
/**
 * The digits before and after the point leave room for a sum of 10^11 numbers. Sums of doubles would drift: of 0.1 and 0.2
 * they make 0.30000000000000004.
 */
const DECIMALS = 30
const DECIMAL = (texts: string) => `arrayMap(item -> toDecimal256OrZero(item, ${DECIMALS}), ${texts})`
/** Whether such a decimal loses some of a number's 15 significant digits, because it is huge or tiny. */
const IS_ROUGH = (number: string) => `abs(${number}) > 1e35 OR (abs(${number}) < 1e-9 AND ${number} != 0)`

/** The double that is nearest to a decimal; a cast could be off by one. */
function nearest(decimal: string): string {
  return `toFloat64(toString(${decimal}))`
}

/** Rounds a double to 15 significant digits: those after them are errors of the calculation. */
function rounded(number: string): string {
  return `toFloat64(printf('%.14e', ${number}))`
}

/** The parts of sums and averages: the exact sum or, if `is_rough`, the one of doubles. */
function sumsOf(texts: string) {
  const floats = FLOATS(texts)
  return {
    numbers: `countArray(${floats})`,
    exact: `sumArray(${DECIMAL(texts)})`,
    rough: `sumKahanArray(${floats})`,
    isRough: `maxArray(arrayMap(number -> ${IS_ROUGH('number')}, ${floats}))`,
  }
}

/** Listed explicitly, so that no input can become SQL. */
const FIGURES: Record<Metric, (texts: string) => string> = {
  count: () => 'count()',
  sum: (texts) => {
    const { numbers, exact, rough, isRough } = sumsOf(texts)
    return `if(${numbers} = 0, NULL, if(${isRough}, ${rounded(rough)}, ${nearest(exact)}))`
  },
  avg: (texts) => {
    const { numbers, exact, rough, isRough } = sumsOf(texts)
    const [roughly, exactly] = [rounded(`${rough} / ${numbers}`), nearest(`${exact} / ${numbers}`)]
    return `if(${numbers} = 0, NULL, if(${isRough}, ${roughly}, ${exactly}))`
  },
  min: (texts) => `minOrNullArray(${FLOATS(texts)})`,
  max: (texts) => `maxOrNullArray(${FLOATS(texts)})`,
  median: (texts) => percentile(5, texts),
  p90: (texts) => percentile(9, texts),
  unique_contacts: () => `uniqExactIf(${CONTACT_OF_EVENT}, ${CONTACT_OF_EVENT} != ${NOBODY})`,
  unique_people: () => `uniqExactIf(${PERSON_OF_EVENT}, ${PERSON_OF_EVENT} != ${NOBODY})`,
  unique_visitors: () => `uniqExactIf(visitor_id, visitor_id != '')`,
  unique_sessions: () => `uniqExactIf(session_id, session_id != '')`,
}

/**
 * Between two values it interpolates, as PERCENTILE.INC in a spreadsheet. The place is counted in whole tenths: a place that
 * is a double, as quantileExactInclusive has it, errs in the digits that are shown.
 */
function percentile(tenths: number, texts: string): string {
  const numbers = FLOATS(texts)
  const sorted = `arraySort(groupArrayArray(${numbers}))`
  const place = `(toInt64(countArray(${numbers})) - 1) * ${tenths}`
  const [below, share] = [`intDiv(${place}, 10) + 1`, `((${place}) % 10)`]
  const between = `(${sorted}[${below}] * (10 - ${share}) + ${sorted}[${below} + if(${share} = 0, 0, 1)] * ${share}) / 10`
  return `if(countArray(${numbers}) = 0, NULL, ${rounded(between)})`
}

/** A figure of events in SQL, with the values of its placeholders. */
export interface Figure {
  sql: string
  parameters: QueryParameters
  /** Whether it uses the contacts of events. */
  withContacts: boolean
}

export function figureOf(measure: Measure): Figure {
  const { metric } = measure
  const { texts, parameters } = needsNumbers(metric) ? numbersOf(measure) : { texts: '', parameters: {} }
  const withContacts = metric === 'unique_contacts' || metric === 'unique_people'
  return { sql: FIGURES[metric](texts), parameters, withContacts }
}
