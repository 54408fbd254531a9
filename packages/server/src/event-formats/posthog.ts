import type { PropertyChanges } from '../contacts/properties.ts'
import { isUuid, timeOfId } from '../platform/ids.ts'
import { NONE_IGNORED, namesNobody } from '../platform/ids-of-nobody.ts'
import type { Call, CallEvent } from '../sites/ingestion/call.ts'
import { EMPTY_CALL } from '../sites/ingestion/call.ts'
import { type Fields, fieldsOf, textOf } from '../sites/segment/fields.ts'
import { idOf, personOf } from '../sites/segment/people.ts'
import { type AnalyticsFormat, idOfText, invalid, requireTime } from './format.ts'
import { emailOf, GENERATED_ID, placeOf, referrerOf, screenOf, sentEmailOf, urlOf } from './page-fields.ts'

const EVENT_NAMES: Readonly<Record<string, string>> = { $pageview: 'page_view', $screen: 'screen_view' }
/** Events that only say who somebody is: the property with the person's other id, which may be absent. */
const ID_OF_LINK: Readonly<Record<string, string>> = {
  $identify: '$anon_distinct_id',
  $create_alias: 'alias',
  $merge_dangerously: 'alias',
}
const CHANGE_OF_PERSON = '$set'

/** The events that PostHog exports. */
export const posthog: AnalyticsFormat = {
  matches: (line) => 'distinct_id' in line && ('uuid' in line || 'timestamp' in line),
  idOf: (line) => textOf(fieldsOf(line).uuid),
  toCall: (line, warnings) => {
    const properties = fieldsOf(line.properties)
    const name = textOf(line.event)
    const distinctId = idOf(line.distinct_id)
    if (name === '') throw invalid('event', 'is required: the name of the event')
    if (distinctId === null) throw invalid('distinct_id', 'is required: whose event it is')
    const linked = ID_OF_LINK[name]
    const traits = traitsOf({ ...fieldsOf(line.$set), ...fieldsOf(properties.$set) })
    if (linked === undefined && name !== CHANGE_OF_PERSON) {
      return { ...callOf(distinctId, properties, traits, warnings), event: eventOf(line, name, properties) }
    }
    const previousId = linked === undefined ? null : idOf(properties[linked])
    const isLink = linked !== undefined
    const person = isLink ? namedPerson(distinctId, traits, warnings) : callOf(distinctId, properties, traits, warnings)
    return { ...person, previousId: previousId === distinctId ? null : previousId }
  },
}

/**
 * The person of a PostHog profile.
 * @returns null for an anonymous visitor, which has only device ids.
 */
export function personOfPostHog(distinctIds: readonly string[], properties: Fields): PostHogPerson | null {
  const named = distinctIds.filter((id) => !namesNobody(id, NONE_IGNORED))
  const [userId = null] = named.filter((id) => !isDevice(id)).sort()
  if (userId === null) return null
  const traits = traitsOf(properties)
  const { properties: usable } = personOf({}, traits, [])
  const visitorIds = named.filter(isDevice)
  return { userId, email: sentEmailOf(traits) ?? emailOf(userId), visitorIds, properties: usable ?? {} }
}

/** Ids that PostHog's SDKs generate: UUIDv7, and another format before 2023. Other UUIDs are the customer's own ids. */
function isDevice(id: string): boolean {
  return isUuid(id) ? timeOfId(id.toLowerCase()) !== null : GENERATED_ID.test(id)
}

export interface PostHogPerson {
  userId: string
  /** As it was sent. */
  email: string | null
  visitorIds: string[]
  properties: PropertyChanges
}

/** Values that PostHog's SDKs add on their own, such as `$initial_referrer`, do not become contact properties. */
function traitsOf(traits: Fields): Fields {
  return Object.fromEntries(Object.entries(traits).filter(([key]) => !key.startsWith('$')))
}

function callOf(distinctId: string, properties: Fields, traits: Fields, warnings: string[]): Call {
  if (!isAnonymous(distinctId, properties)) return namedPerson(distinctId, traits, warnings)
  return { ...EMPTY_CALL, ...personOf({ anonymousId: distinctId }, traits, warnings) }
}

function namedPerson(distinctId: string, traits: Fields, warnings: string[]): Call {
  const person = personOf({ userId: distinctId }, traits, warnings)
  return { ...EMPTY_CALL, ...person, email: person.email ?? emailOf(distinctId) }
}

/** PostHog uses one id for visitors and contacts. A visitor's id is the device id, or a UUIDv7 that the SDK generated. */
function isAnonymous(distinctId: string, properties: Fields): boolean {
  if (properties.$is_identified === true || properties.$user_id === distinctId) return false
  if (properties.$is_identified === false || properties.$device_id === distinctId) return true
  return isUuid(distinctId) && timeOfId(distinctId) !== null
}

function eventOf(line: Fields, name: string, properties: Fields): CallEvent {
  // The address says where the person was, and is not stored.
  const { $set: _set, $ip: ip, ...data } = properties
  const uuid = textOf(line.uuid)
  return {
    event: EVENT_NAMES[name] ?? name,
    timestamp: requireTime('timestamp', withOffset(textOf(line.timestamp))),
    clockCorrection: 0,
    url: urlOf(properties.$current_url),
    title: urlOf(textOf(properties.title) || textOf(properties.$title) || textOf(properties.$screen_name)),
    referrer: referrerOf(properties.$referrer),
    data,
    sentId: uuid === '' ? null : isUuid(uuid) ? uuid.toLowerCase() : idOfText(`uuid ${uuid}`),
    sessionId: idOf(properties.$session_id),
    context: {
      language: properties.$browser_language,
      timezone: properties.$timezone,
      screen: screenOf(properties),
      user_agent: textOf(properties.$raw_user_agent) || properties.$user_agent,
      ip,
    },
    place: placeOf(properties.$geoip_country_code, properties.$geoip_subdivision_1_name, properties.$geoip_city_name),
    device: {
      browser: textOf(properties.$browser),
      os: textOf(properties.$os),
      deviceType: textOf(properties.$device_type).toLowerCase(),
    },
  }
}

/** PostHog writes some UTC times without a time zone. */
function withOffset(time: string): string {
  return /\d:\d{2}:\d{2}(\.\d+)?$/.test(time) ? `${time}Z` : time
}
