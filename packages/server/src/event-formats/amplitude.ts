import type { PropertyChanges } from '../contacts/properties.ts'
import { ID_LENGTH_MAX } from '../platform/ids.ts'
import { type CallEvent, EMPTY_CALL } from '../sites/ingestion/call.ts'
import { type Fields, fieldsOf, textOf } from '../sites/segment/fields.ts'
import { idOf, personOf } from '../sites/segment/people.ts'
import { type AnalyticsFormat, idOfText, invalid, requireTime } from './format.ts'
import { emailOf, sentEmailOf, urlOf } from './page-fields.ts'

const EVENT_NAMES: Readonly<Record<string, string>> = {
  '[Amplitude] Page Viewed': 'page_view',
  'Page View': 'page_view',
  '[Amplitude] Screen Viewed': 'screen_view',
}
/** Events that only change what is known of a person or a group. */
const CHANGES = ['$identify', '$groupidentify']
/** User properties that Amplitude's SDKs add on their own, such as `initial_utm_source` and `referrer`. */
const ADDED =
  /^(initial_|utm_|\[Amplitude\]|\$)|^(referrer|referring_domain|gclid|gbraid|wbraid|fbclid|msclkid|dclid|li_fat_id|ttclid|twclid|rdt_cid|ko_click_id)$/

/** The events that Amplitude exports. */
export const amplitude: AnalyticsFormat = {
  matches: (line) => textOf(line.event_type) !== '' && 'amplitude_id' in line,
  idOf: (line) => textOf(fieldsOf(line).$insert_id) || textOf(fieldsOf(line).uuid),
  toCall: (line, warnings) => {
    const name = textOf(line.event_type)
    const [userId, visitorId] = [idOf(line.user_id), idOf(line.device_id)]
    if (name === '') throw invalid('event_type', 'is required: the name of the event')
    if (userId === null && visitorId === null) throw invalid('user_id', 'or device_id is required: whose event it is')
    const { email, properties } = personOf({}, traitsOf(line), warnings)
    const person = {
      ...EMPTY_CALL,
      userId,
      visitorId,
      // Properties that an anonymous visitor sends do not identify anybody.
      ...(userId === null ? {} : { email: email ?? emailOf(userId), properties }),
    }
    return CHANGES.includes(name) ? person : { ...person, event: eventOf(line, name) }
  },
}

/** The person of an event with their properties at its time; null if the event has no person. */
export function personOfAmplitude(value: unknown): AmplitudePerson | null {
  const line = fieldsOf(value)
  const userId = idOf(line.user_id)
  if (userId === null) return null
  const traits = traitsOf(line)
  const { properties } = personOf({}, traits, [])
  const email = sentEmailOf(traits) ?? emailOf(userId)
  return { userId, email, properties: properties ?? {}, at: withOffset(line.event_time) }
}

export interface AmplitudePerson {
  userId: string
  /** As it was sent. */
  email: string | null
  properties: PropertyChanges
  /** ISO 8601. */
  at: string
}

function traitsOf({ user_properties }: Fields): Fields {
  return Object.fromEntries(Object.entries(fieldsOf(user_properties)).filter(([key]) => !ADDED.test(key)))
}

function eventOf(line: Fields, name: string): CallEvent {
  const properties = fieldsOf(line.event_properties)
  const users = fieldsOf(line.user_properties)
  const id = textOf(line.$insert_id)
  const uuid = textOf(line.uuid)
  return {
    event: EVENT_NAMES[name] ?? name,
    timestamp: requireTime('event_time', withOffset(line.event_time)),
    clockCorrection: 0,
    url: urlOf(properties['[Amplitude] Page URL'] ?? properties['[Amplitude] Page Location']),
    title: urlOf(properties['[Amplitude] Page Title'] ?? properties['[Amplitude] Screen Name']),
    referrer: urlOf(properties.referrer ?? users.referrer),
    data: properties,
    sentId:
      id !== ''
        ? idOfText(`$insert_id ${id} ${textOf(line.device_id)}`)
        : uuid === ''
          ? null
          : idOfText(`uuid ${uuid}`),
    sessionId: sessionOf(line),
    context: { language: line.language, user_agent: line.user_agent, ip: line.ip_address },
    device: deviceOf(line),
  }
}

/** On the web, Amplitude has the operating system in the device fields, and the browser in the operating system fields. */
function deviceOf({ platform, os_name, device_family }: Fields): NonNullable<CallEvent['device']> {
  const isWeb = textOf(platform) === 'Web'
  return { browser: isWeb ? textOf(os_name) : '', os: textOf(isWeb ? device_family : os_name), deviceType: '' }
}

/** -1 means no session. A session id is its start time, so other devices may have the same id. */
function sessionOf({ session_id, device_id }: Fields): string | null {
  const session = textOf(session_id)
  return session === '' || session === '-1' ? null : `${textOf(device_id)}/${session}`.slice(0, ID_LENGTH_MAX)
}

/** Amplitude writes UTC times without a time zone: `2026-01-31 08:00:00.123456`. */
function withOffset(value: unknown): string {
  const time = textOf(value)
  return /\d:\d{2}:\d{2}(\.\d+)?$/.test(time) ? `${time}Z` : time
}
