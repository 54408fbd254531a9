import { readFile } from 'node:fs/promises'
import {
  connectIntercom,
  describeConnection,
  disconnectSource,
  syncSource,
} from '../conversations/intercom/connection.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { ServiceError } from '../platform/errors.ts'
import { createJsonApi } from '../platform/outbound/json-api.ts'
import { about, audited } from './audited.ts'
import { type CommandOnce, existingTenant, optional, required, tenant } from './command.ts'

const ACTOR = { kind: 'command_line' } as const
const source = required('SOURCE')

/** `cdsctl source …` */
export const SOURCE_COMMANDS: Record<string, CommandOnce> = {
  'source connect-intercom': {
    summary: 'Connect Intercom with the access token in a file, and pull its contacts and conversations from then on',
    options: { tenant, 'token-file': required('FILE'), region: optional('us|eu|au') },
    run: async (session, values, now) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      const token = await tokenOf(String(values['token-file']))
      const api = createJsonApi({ allowPrivate: session.config.webhookAllowPrivate })
      try {
        const dependencies = { secrets: await openSecretBox(session.config), api }
        return {
          ...(await connectIntercom(owner, dependencies, ACTOR, { token, region: String(values.region ?? 'us') }, now)),
        }
      } finally {
        await api.close()
      }
    },
  },
  'source sync': {
    summary: 'Ask the running service to pull a connected source now',
    options: { tenant, source },
    run: async (session, values, now) => {
      const name = String(values.source)
      const connection = await audited(
        session,
        await existingTenant(session.stores, values),
        now,
        (tx) => syncSource(tx, name, now),
        () => about('source', 'pull_ordered', name),
      )
      return { ...connection }
    },
  },
  'source status': {
    summary: 'Show the state of a connected source',
    options: { tenant, source },
    run: async (session, values) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      return { ...(await describeConnection(owner, String(values.source))) }
    },
  },
  'source disconnect': {
    summary: 'Stop pulling a connected source and delete its token; the pulled data stays',
    options: { tenant, source },
    run: async (session, values, now) => {
      const owner = session.tenant(await existingTenant(session.stores, values))
      await disconnectSource(owner, ACTOR, String(values.source), now)
      return { source: String(values.source), disconnected: true }
    },
  },
}

async function tokenOf(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim()
  } catch (cause) {
    const reason = (cause as NodeJS.ErrnoException).code ?? 'unknown error'
    throw new ServiceError(400, 'invalid_option', `--token-file ${file} cannot be read (${reason}).`, { cause })
  }
}
