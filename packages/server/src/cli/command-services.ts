import type { Services } from '../assembly/all-operations.ts'
import { openConnections } from '../assembly/connections.ts'
import { operationServices } from '../assembly/operation-services.ts'
import { QUEUES } from '../assembly/workers.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { createJobSender } from '../platform/jobs/jobs.ts'
import { createLog } from '../platform/log.ts'
import { createMailer } from '../platform/mail.ts'
import { openPlacesLater } from '../platform/places.ts'
import { createCallRecorder } from '../sites/ingestion/record-calls.ts'
import type { Session } from './session.ts'

/** The services of one command. Nothing connects until the operation uses it. */
export async function openServices(session: Session): Promise<{ services: Services; close(): Promise<void> }> {
  const { config, stores } = session
  const secrets = await openSecretBox(config)
  const writing = session.writing()
  const connections = openConnections({}, { config, secrets, clock: writing.clock })
  const jobs = createJobSender(session.address, QUEUES, createLog('silent'))
  const services = operationServices({
    ...connections,
    config,
    stores,
    secrets,
    writing,
    jobs,
    // Commands are trusted, and are not a source.
    recordCalls: createCallRecorder({
      ...writing,
      groupCommit: session.groupCommit(),
      sourceUsage: { note: () => {} },
      findIdentificationKeys: async () => ({ requiresSignature: false, keys: [] }),
      placeOf: openPlacesLater(config.geoDatabase),
    }),
    mailer: createMailer(config),
    rateLimiter: UNCOUNTED,
    invalidation: { caughtUp: async () => {} },
    isClosing: () => false,
  })
  const close = async () => {
    await jobs.stop()
    await connections.close()
  }
  return { services, close }
}

/** A command counts no requests: each process of the service counts its own in memory. */
const UNCOUNTED = {
  checkAudited: () => {},
  usedByApiKey: () => null,
  usedByTenant: () => {
    console.error('cdsctl: Request counts are null: only the running service has them. GET /v1/limits returns them.')
    return { tracking: null, forms: null }
  },
}
