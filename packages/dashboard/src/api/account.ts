import { send } from './client.ts'

/** What an authenticator needs, and the codes for when it is lost. */
export interface SecondFactor {
  totpURI: string
  backupCodes: string[]
}

/** All other sessions of the person end. */
export function changePassword(currentPassword: string, newPassword: string): Promise<unknown> {
  return send('POST', '/api/auth/change-password', { currentPassword, newPassword, revokeOtherSessions: true })
}

/** Begins to protect the account; it takes effect with the first right code. */
export function prepareSecondFactor(password: string): Promise<SecondFactor> {
  return send('POST', '/api/auth/two-factor/enable', { password })
}

export function removeSecondFactor(password: string): Promise<unknown> {
  return send('POST', '/api/auth/two-factor/disable', { password })
}

/** The codes before are worth nothing then. */
export function newBackupCodes(password: string): Promise<{ backupCodes: string[] }> {
  return send('POST', '/api/auth/two-factor/generate-backup-codes', { password })
}

export function signOutElsewhere(): Promise<unknown> {
  return send('POST', '/api/auth/revoke-other-sessions', {})
}

export function createTenant(name: string): Promise<{ tenant_id: string }> {
  return send('POST', '/api/tenants', { name })
}
