import { TABLES } from '../assembly/tables.ts'
import { type Resealed, resealColumn } from '../platform/crypto/reseal.ts'
import { openSecretBox } from '../platform/crypto/secret-key.ts'
import { sealedColumns } from '../platform/postgres/table-rules.ts'
import type { CommandOnce } from './command.ts'

/** `cdsctl secret …` */
export const SECRET_COMMANDS: Record<string, CommandOnce> = {
  'secret rotate': {
    summary: 'Re-encrypt every secret in the database with the first key of CDS_SECRET_KEY',
    options: {},
    prints: ['resealed', 'current', 'unreadable', 'columns'],
    run: async (session) => {
      const secrets = await openSecretBox(session.config)
      const columns: Resealed[] = []
      for (const column of sealedColumns(TABLES))
        columns.push(await resealColumn(session.stores.database, secrets, column))
      const sum = (name: 'resealed' | 'current' | 'unreadable') =>
        columns.reduce((total, column) => total + column[name], 0)
      return { resealed: sum('resealed'), current: sum('current'), unreadable: sum('unreadable'), columns }
    },
  },
}
