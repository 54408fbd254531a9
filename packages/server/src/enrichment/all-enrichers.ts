import { COMPANY } from './company.ts'
import type { Enricher } from './enricher.ts'
import { NAME } from './name.ts'
import { PHONE } from './phone.ts'
import { PLACE } from './place.ts'

/** Every enricher, in the order in which they are asked: the country of a visit may be that of a phone number. */
export const ENRICHERS = [COMPANY, PLACE, PHONE, NAME] satisfies Enricher[]
