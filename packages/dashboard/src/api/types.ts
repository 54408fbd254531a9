export type * from '../../../client/src/generated/types.gen.ts'

/** The kinds of records that have a list with filters. */
export type Entity = 'contacts' | 'companies'
