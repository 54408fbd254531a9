import type { PropertyChanges } from '../contacts/properties.ts'
import { isObject } from '../platform/is-object.ts'
import { sinceEpoch } from '../platform/time.ts'
import { type Call, type CallEvent, EMPTY_CALL } from '../sites/ingestion/call.ts'
import { type Fields, fieldsOf, textOf } from '../sites/segment/fields.ts'
import { idOf, personOf as personOfTraits } from '../sites/segment/people.ts'
import { type AnalyticsFormat, idOfText, invalid, requireTime } from './format.ts'
import { emailOf, GENERATED_ID, placeOf, referrerOf, screenOf, sentEmailOf, urlOf } from './page-fields.ts'

const EVENT_NAMES: Readonly<Record<string, string>> = {
  $mp_web_page_view: 'page_view',
  mp_page_view: 'page_view',
}
const DEVICE = '$device:'

/** The events that Mixpanel exports. */
export const mixpanel: AnalyticsFormat = {
  matches: (line) => typeof line.event === 'string' && (fieldsOf(line.properties).time ?? line.time) !== undefined,
  idOf: (line) => textOf(fieldsOf(fieldsOf(line).properties).$insert_id),
  toCall: (line) => {
    const { event, properties: sent, ...others } = line
    const name = textOf(event)
    // The columns of a CSV file are the properties.
    const properties = isObject(sent) ? sent : others
    if (name === '') throw invalid('event', 'is required: the name of the event')
    if (name === '$identify') return linkOf(properties.$identified_id ?? properties.distinct_id, properties.$anon_id)
    if (name === '$create_alias') return linkOf(properties.distinct_id, properties.alias)
    if (name === '$merge') return mergeOf(properties.$distinct_ids)
    return { ...personOf(properties), event: eventOf(name, properties) }
  },
}

export interface MixpanelPerson {
  userId: string
  /** As it was sent. */
  email: string | null
  properties: PropertyChanges
  /** ISO 8601; undefined if the profile does not say. */
  updatedAt: string | undefined
}

/** Mixpanel's property names, and the service's names for them. */
const NAMES: Readonly<Record<string, string>> = {
  $email: 'email',
  $first_name: 'firstname',
  $last_name: 'lastname',
  $name: 'name',
  $phone: 'phone',
  $city: 'city',
  $region: 'state',
  $country_code: 'country',
  $unsubscribed: 'unsubscribed',
}

/** The person of a Mixpanel profile. @returns null for the profile of a device. */
export function personOfMixpanel(distinctId: unknown, properties: Fields): MixpanelPerson | null {
  const userId = idOf(distinctId)
  if (userId === null || isGenerated(userId)) return null
  const named = Object.entries(properties).map(([key, value]) => [NAMES[key] ?? key, value] as const)
  const traits = Object.fromEntries(named.filter(([key]) => !key.startsWith('$') && !key.startsWith('mp_')))
  const { properties: usable } = personOfTraits({}, traits, [])
  const updatedAt = textOf(properties.$last_seen)
  return {
    userId,
    email: sentEmailOf(traits) ?? emailOf(userId),
    properties: usable ?? {},
    updatedAt: /T\d{2}:\d{2}:\d{2}$/.test(updatedAt) ? `${updatedAt}Z` : undefined,
  }
}

/** Two ids of one person. An id that looks generated may also belong to a visitor with events. */
function linkOf(id: unknown, other: unknown): Call {
  const [userId, previousId] = [idOf(id), visitorIdOf(idOf(other))]
  if (userId === null || previousId === null) throw invalid('properties', 'must have both ids of the person')
  return {
    ...EMPTY_CALL,
    userId,
    email: emailOf(userId),
    visitorId: GENERATED_ID.test(userId) ? userId : null,
    previousId: previousId === userId ? null : previousId,
  }
}

function mergeOf(ids: unknown): Call {
  const [one, other] = Array.isArray(ids) ? ids : []
  return isGenerated(textOf(one)) ? linkOf(other, one) : linkOf(one, other)
}

function isGenerated(id: string): boolean {
  return id.startsWith(DEVICE) || GENERATED_ID.test(id)
}

function visitorIdOf(id: string | null): string | null {
  return id?.startsWith(DEVICE) ? id.slice(DEVICE.length) : id
}

/** `$user_id` and `$device_id` identify the kinds of ids. Older exports have only `distinct_id`. */
function personOf(properties: Fields): Call {
  const distinctId = idOf(properties.distinct_id)
  const isDevice = distinctId === null || isGenerated(distinctId)
  const visitorId = idOf(properties.$device_id) ?? (isDevice ? distinctId : null)
  const userId = idOf(properties.$user_id) ?? (isDevice ? null : distinctId)
  if (visitorId === null && userId === null) throw invalid('properties.distinct_id', 'is required: whose event it is')
  return { ...EMPTY_CALL, userId, visitorId: visitorIdOf(visitorId), email: emailOf(userId ?? '') }
}

function eventOf(name: string, properties: Fields): CallEvent {
  const insertId = textOf(properties.$insert_id)
  const { time, distinct_id, ...data } = properties
  return {
    event: EVENT_NAMES[name] ?? name,
    timestamp: timeOf(time),
    clockCorrection: 0,
    url: urlOf(textOf(properties.$current_url) || textOf(properties.current_url)),
    title: urlOf(textOf(properties.current_page_title)),
    referrer: referrerOf(properties.$referrer),
    data,
    // Mixpanel also compares the name and the person.
    sentId: insertId === '' ? null : idOfText(`$insert_id ${insertId} ${name} ${textOf(distinct_id)}`),
    sessionId: null,
    context: { screen: screenOf(properties), user_agent: properties.$user_agent },
    place: placeOf(properties.mp_country_code, properties.$region, properties.$city),
    device: { browser: textOf(properties.$browser), os: textOf(properties.$os), deviceType: '' },
  }
}

/** The time in seconds or milliseconds since 1970, or as text. */
function timeOf(time: unknown): string {
  const number = typeof time === 'number' ? time : /^\d+(\.\d+)?$/.test(textOf(time)) ? Number(time) : null
  if (number === null) return requireTime('properties.time', textOf(time))
  const date = sinceEpoch(number)
  if (date === null) throw invalid('properties.time', 'must be seconds or milliseconds since 1970')
  return requireTime('properties.time', date.toISOString())
}
