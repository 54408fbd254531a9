import { linksWhere, NOBODY, OF_TENANT } from './owner-links.ts'

/*
 * A sample of people: an event is in it if its person is (`PERSON_OF_EVENT`), so that what a person did is there as a whole or
 * not at all. Who is in it does not change, and a smaller sample is a part of a larger one.
 */

/** A sample has so many millionths of all people. */
const WHOLE = 1_000_000

/** The value of the parameter of a sample that has this part of all people, from 0 to 1. */
export function sizeOfSample(part: number): number {
  return Math.round(part * WHOLE)
}

/** The condition that an event is of a person in the sample whose size is in a parameter, as `sizeOfSample` has it. */
export function isInSample(parameter: string): string {
  return `(owner_id IN {${parameter}: Sample})`
}

const IN_SAMPLE = /\(owner_id IN \{(\w+): Sample\}\)/g

/** A statement with the conditions of its samples written out, which the tenant's handle does: they have a subquery. */
export function withSamples(sql: string): string {
  return sql.replace(IN_SAMPLE, (_, parameter: string) => conditionOf(parameter))
}

/**
 * Owners are in the sample by their own hash, but for the linked ones whose contact's hash says otherwise: these are few, and
 * nothing has to be joined. Of events of nobody, those of one session are together.
 */
function conditionOf(parameter: string): string {
  const has = (id: string) => `sipHash64(${id}) % ${WHOLE} < {${parameter}: UInt32}`
  const differs = `contact_id != ${NOBODY} AND (${has('owner_id')}) != (${has('contact_id')})`
  const corrected = `SELECT owner_id FROM (${linksWhere(OF_TENANT)}) WHERE ${differs}`
  const ofNobody = has(`if(session_id = '', toString(event_id), session_id)`)
  return `if(owner_id = ${NOBODY}, ${ofNobody}, (${has('owner_id')}) != (owner_id GLOBAL IN (${corrected})))`
}
