import { createExternalContactIds } from '../../contacts/visitors/external-id.ts'
import type { SeenNetworks } from '../../identification/seen-networks.ts'
import type { GroupCommit } from '../../journal/group-commit.ts'
import { senderOf } from '../../journal/sent-ids.ts'
import { validationError } from '../../platform/errors.ts'
import { newId } from '../../platform/ids.ts'
import type { PlaceOf } from '../../platform/places.ts'
import { openTenant, type Stores } from '../../platform/tenant.ts'
import { browserOf } from '../ingestion/event-fields.ts'
import { createEventRecorder } from '../ingestion/record-events.ts'
import type { ClientHints } from './client-hints.ts'
import { type IdentificationDependencies, identifyVisitor } from './identification.ts'
import { type TakeLead, takeLeads } from './leads.ts'
import type { TrackBody } from './requests.ts'
import { firstNamed, namedVisitorOf, proposedSession, SESSION_COOKIE, sessionOf } from './session.ts'
import { toRecords } from './to-records.ts'

/** The page and the browser that sent events. */
export interface Sender {
  tenantId: string
  cookies: string | undefined
  userAgent: string
  hints: ClientHints | null
  /** Looked up, and not stored. */
  address: string
  /** The host of the page. */
  pageHost: string | null
}

export interface Collected {
  accepted: number
  visitorId: string
  sessionId: string
  /** The parts of the request that were ignored, and why. */
  warnings: string[]
}

export type Collect = (sender: Sender, sent: TrackBody) => Promise<Collected>

/**
 * Records what a page sends: first the identification, so that the events belong to the contact from the start, then the
 * events. The ids of the visitor and the session come from the request, else from the cookies, else they are new.
 */
export function createCollector(
  dependencies: Omit<IdentificationDependencies, 'externalContactIds'> & {
    stores: Stores
    groupCommit: GroupCommit
    seenNetworks: SeenNetworks
    placeOf: PlaceOf
    takeLead: TakeLead
  },
): Collect {
  const { stores, seenNetworks, placeOf, takeLead, clock } = dependencies
  const externalContactIds = createExternalContactIds(dependencies)
  const recordEvents = createEventRecorder(dependencies)

  return async ({ tenantId, cookies, userAgent, hints, address, pageHost }, sent) => {
    if ((sent.events ?? []).length === 0 && sent.identify === undefined) {
      throw validationError([{ path: 'events', message: 'must be a list of 1 to 10 items' }])
    }
    const tenant = openTenant(stores, tenantId)
    const ignored = await dependencies.findIgnoredIds(tenant)
    const warnings: string[] = []
    const namedVisitor = namedVisitorOf(sent.visitor_id, cookies, ignored, warnings)
    const namedSession = firstNamed(ignored, warnings, [
      ['session_id', sent.session_id],
      [`the cookie ${SESSION_COOKIE}`, sessionOf(cookies)],
      ['context.session_id', proposedSession(sent)],
    ])
    const visitorId = namedVisitor ?? newId()
    const sessionId = namedSession ?? newId()
    const { events, sentIds } = toRecords(sent, {
      tenantId,
      visitorId,
      sessionId,
      at: clock(),
      pageHost,
      ...browserOf(userAgent, hints),
      place: placeOf(address),
    })
    if (sent.identify !== undefined || sent.external_contact_id !== undefined) {
      const identification = { ...dependencies, externalContactIds, ignored }
      warnings.push(...(await identifyVisitor(tenant, identification, visitorId, sent)))
    }
    warnings.push(...(await takeLeads(tenant, takeLead, sent, { visitorId, address })))
    const group = { tenantId, visitorId, sender: senderOf(namedVisitor), events, sentIds }
    await Promise.all([
      seenNetworks.note(tenant, visitorId, address),
      recordEvents(tenant, events.length > 0 ? [group] : []),
    ])
    return { accepted: events.length, visitorId, sessionId, warnings }
  }
}
