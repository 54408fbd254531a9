import type { QueryClient } from '@tanstack/react-query'
import { send } from '../api/client.ts'

export function changeMyName(name: string) {
  return send<{ name: string }>('PATCH', '/api/me', { name })
}

/** Ends all other sessions. */
export function changePassword(currentPassword: string, newPassword: string) {
  return send('POST', '/api/auth/change-password', { currentPassword, newPassword })
}

/** Starts the setup of the second factor, which takes effect once a code has been verified. */
export function enableTwoFactor(password: string) {
  return send<{ totpURI: string; backupCodes: string[] }>('POST', '/api/auth/two-factor/enable', { password })
}

export function disableTwoFactor(password: string) {
  return send('POST', '/api/auth/two-factor/disable', { password })
}

/** New backup codes; the previous ones stop working. */
export function newBackupCodes(password: string) {
  return send<{ backupCodes: string[] }>('POST', '/api/auth/two-factor/generate-backup-codes', { password })
}

export function refreshMe(queryClient: QueryClient): Promise<unknown> {
  return queryClient.invalidateQueries({ queryKey: ['me'] })
}
