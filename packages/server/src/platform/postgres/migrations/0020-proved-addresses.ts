import { type Kysely, sql } from 'kysely'

/** The tenant that vouches for an unverified account, and the counts of sign-ins and of the service's own mail. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of STATEMENTS) await sql.raw(statement).execute(db)
}

const STATEMENTS = [
  // The tenant whose invitation created an account with an unverified address. No other tenant accepts it.
  'ALTER TABLE users ADD COLUMN vouched_by uuid REFERENCES tenants ON DELETE SET NULL',
  'CREATE INDEX users_vouched_by ON users (vouched_by)',

  // Whether the link was only mailed, so that opening it verifies the address.
  'ALTER TABLE invitations ADD COLUMN proves_address boolean NOT NULL DEFAULT false',
  'ALTER TABLE invitations ALTER COLUMN proves_address DROP DEFAULT',

  // Used second-factor codes, kept longer than they would be accepted.
  `CREATE TABLE user_used_codes (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    code text NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, code)
  )`,
  'CREATE INDEX user_used_codes_expiry ON user_used_codes (expires_at)',

  // The networks that a person has signed in from, and the wrong codes from each. All other networks share one row with
  // the network 0.0.0.0/0.
  `CREATE TABLE user_networks (
    user_id uuid NOT NULL REFERENCES users ON DELETE CASCADE,
    network cidr NOT NULL,
    wrong_codes integer NOT NULL DEFAULT 0,
    locked_until timestamptz,
    seen_at timestamptz NOT NULL,
    PRIMARY KEY (user_id, network)
  )`,
  'CREATE INDEX user_networks_seen ON user_networks (seen_at)',

  // The service's own mail of the last hour, counted by address, sender and tenant.
  `CREATE TABLE sent_mails (
    counted_for text NOT NULL,
    sent_at timestamptz NOT NULL
  )`,
  'CREATE INDEX sent_mails_counted ON sent_mails (counted_for, sent_at)',
  'CREATE INDEX sent_mails_sent ON sent_mails (sent_at)',
]
