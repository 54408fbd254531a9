import { optionsOf, readOptions } from '../operations/command-line.ts'
import type { Operation } from '../operations/declare.ts'
import { perform } from '../operations/perform.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { createOutbound } from '../platform/outbound/client.ts'
import { type Command, existingTenant, tenant } from './command.ts'

/** The command that performs an operation for the tenant in its options. */
export function commandOf(operation: Operation): Command {
  return {
    summary: operation.summary,
    options: { tenant, ...optionsOf(operation) },
    run: async (session, values, now) => {
      const input = readOptions(operation, values)
      const outbound = createOutbound({ allowPrivate: session.config.webhookAllowPrivate })
      try {
        const context = {
          tenant: session.tenant(await existingTenant(session.stores, values)),
          now,
          secrets: await openSecretBox(session.config),
          outbound,
        }
        return await perform(operation, context, { kind: 'command_line' }, input)
      } finally {
        await outbound.close()
      }
    },
  }
}
