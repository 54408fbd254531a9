import { agentsOfIdentity } from '../agents/agents.ts'
import { alertsOfReport } from '../alerts/alerts.ts'
import { people } from '../companies/people.ts'
import { refillScores } from '../computed/computed-properties.ts'
import { scoresOfContacts } from '../computed/scores/reasons.ts'
import type { Config } from '../config.ts'
import type { WriteServices } from '../contacts/writing/writer.ts'
import { refuseWhileErasing } from '../erasure/erasures.ts'
import { importFilter } from '../imports/list-filter.ts'
import { openToolServices } from '../mcp/tool-services.ts'
import type { Operation } from '../operations/declare.ts'
import type { SecretBox } from '../platform/crypto/secret-box.ts'
import type { RateLimiter } from '../platform/http/rate-limits.ts'
import type { JobSender } from '../platform/jobs/jobs.ts'
import type { Mailer } from '../platform/mail.ts'
import type { Invalidation } from '../platform/postgres/invalidation.ts'
import type { Stores, Tenant } from '../platform/tenant.ts'
import { warningsAbout } from '../properties/in-conditions.ts'
import { companyFilter } from '../segments/company-list-filter.ts'
import { INSIGHT_SERVICES } from '../segments/events.ts'
import { segmentFilter } from '../segments/list-filter.ts'
import { findSegment, reevaluateDays } from '../segments/segments.ts'
import type { RecordCalls } from '../sites/ingestion/record-calls.ts'
import { OPERATIONS, type Services } from './all-operations.ts'
import type { Connections } from './connections.ts'
import { createPurposes, type PurposeDependencies } from './purposes.ts'
import { SUBJECT_KINDS } from './subject-kinds.ts'

/** What the service and a command each open in their own way. */
interface Parts extends Omit<Connections, 'close'>, Pick<PurposeDependencies, 'mailServers'> {
  config: Config
  stores: Stores
  secrets: SecretBox
  writing: WriteServices
  recordCalls: RecordCalls
  jobs: JobSender
  mailer: Mailer | null
  rateLimiter: Pick<RateLimiter, 'checkAudited' | 'usedByApiKey' | 'usedByTenant'>
  invalidation: Pick<Invalidation, 'caughtUp'>
  isClosing(): boolean
}

/** What operations need besides the context, in the service and in a command. */
export function operationServices<Given extends Parts>(parts: Given) {
  const { clock } = parts.writing
  const authorization = { ...parts.providers, purposes: createPurposes(parts) }
  const services = {
    ...parts,
    ...parts.writing,
    authorization,
    people,
    refuseWhileErasing,
    agentsOfIdentity,
    alertsOfReport,
    findSegment,
    ...INSIGHT_SERVICES,
    reevaluateDays: async (tx: Tenant) => {
      await reevaluateDays(tx)
      await refillScores(tx)
    },
    warningsAbout,
    scoresOf: scoresOfContacts,
    // The filters of lists of contacts that belong to other features.
    listFilters: [importFilter, segmentFilter],
    companyFilter,
    subjectKinds: SUBJECT_KINDS,
  }
  const ofTools = openToolServices(OPERATIONS as readonly Operation<object>[], { ...parts, services, clock })
  return { ...services, ...ofTools } satisfies Services
}
