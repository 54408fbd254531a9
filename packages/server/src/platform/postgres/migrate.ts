import { type Kysely, type Migration, Migrator } from 'kysely'

/** Runs pending migrations of PostgreSQL. @returns their names. */
export async function migratePostgres<Tables>(
  db: Kysely<Tables>,
  migrations: Record<string, Migration>,
): Promise<string[]> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => migrations } })
  const { error, results } = await migrator.migrateToLatest()
  if (error) throw error
  return (results ?? []).map((result) => result.migrationName)
}
