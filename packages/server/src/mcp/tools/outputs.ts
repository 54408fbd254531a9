import Type, { type TProperties, type TSchema } from 'typebox'

/*
 * Parts of the results of tools. Empty fields are left out of results, and parts of a result that is too large, so that
 * nothing is required.
 */

export const text = Type.Optional(Type.String())
export const count = Type.Optional(Type.Integer())
export const number = Type.Optional(Type.Number())
export const flag = Type.Optional(Type.Boolean())
export const texts = Type.Optional(Type.Array(Type.String()))

/** Fields whose names the tenant or its systems chose, such as properties and the data of an event. */
export const bag = Type.Optional(Type.Object({}, { additionalProperties: true }))

/** A record with these fields. */
export function record(fields: TProperties) {
  return Type.Optional(Type.Object({ ...fields, shortened: text }, { additionalProperties: false }))
}

export function listOf(item: TSchema) {
  return Type.Optional(Type.Array(item))
}

/** A page of rows under a name, with the cursor of the next page. */
export function pageOf(name: string, fields: TProperties): TProperties {
  return { total: count, [name]: listOf(record(fields)), next_cursor: text }
}

/** A contact or a company beside an event, an action or a message. */
export const person = record({
  contact_id: text,
  email: text,
  firstname: text,
  lastname: text,
  company: text,
  jobtitle: text,
  lifecyclestage: text,
})

export const contactRow = {
  contact_id: text,
  properties: bag,
  company_id: text,
  created_at: text,
}
export const companyRow = { company_id: text, name: text, domain: text, properties: bag, created_at: text }
export const segmentRow = {
  segment_id: text,
  name: text,
  description: text,
  entity: text,
  contact_count: count,
  company_count: count,
  counting: flag,
  filter: bag,
}
