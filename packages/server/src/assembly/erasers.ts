import { eraseFromRuns } from '../agents/erase.ts'
import { eraseFromConnections } from '../connectors/erase.ts'
import { countContactRows } from '../contacts/erase.ts'
import { mentionPattern } from '../contacts/erasure-subject.ts'
import { countNotes, eraseFromNotes } from '../contacts/notes/erase.ts'
import { eraseFromVisitors } from '../contacts/visitors/erase.ts'
import { eraseFromConversations } from '../conversations/erase.ts'
import type { Counter, Eraser } from '../erasure/erase.ts'
import { eraseFromHookBodies } from '../hooks/erase.ts'
import { eraseDevices } from '../identification/erase.ts'
import { eraseFromImports } from '../imports/expire.ts'
import { countMemberships } from '../memberships/memberships.ts'
import { eraseResponses } from '../operations/idempotency.ts'
import { eraseFromSegments } from '../segments/erase.ts'
import { eraseProblems } from '../sites/problems/erase.ts'
import { eraseFromDeliveries } from '../webhooks/erase.ts'

/** Erasers of all personal data in PostgreSQL outside the contact's own row. A feature with such data adds one. */
export const ERASERS: readonly Eraser[] = [
  eraseFromVisitors,
  eraseDevices,
  eraseFromNotes,
  eraseFromSegments,
  eraseFromConversations,
  eraseFromConnections,
  eraseFromRuns,
  eraseFromImports,
  eraseFromHookBodies,
  eraseProblems,
  // Late, because it locks rows that delivery workers wait for.
  (tx, { contactId, email }) => eraseFromDeliveries(tx, contactId, email === null ? null : mentionPattern(email)),
  // Last, because it locks the sums that every request with an Idempotency-Key waits for.
  eraseResponses,
]

/** The rows that are deleted with the contact's row, for the receipt. */
export const COUNTERS: readonly Counter[] = [countContactRows, countNotes, countMemberships]
