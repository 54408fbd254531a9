import { type Kysely, sql } from 'kysely'

/** One verified account per address, plus one for each tenant that vouches for the address. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  'ALTER TABLE users DROP CONSTRAINT users_email_key',
  'ALTER TABLE users ADD CONSTRAINT users_email_vouched_by_key UNIQUE (email, vouched_by)',

  // The e-mail address for the sign-in library, which expects unique addresses and finds the account of a provider's
  // profile by them: it must only find the verified one.
  `ALTER TABLE users ADD COLUMN sign_in_email text NOT NULL UNIQUE
    GENERATED ALWAYS AS (CASE WHEN email_verified THEN email ELSE id::text || '@unverified.invalid' END) STORED`,
]
