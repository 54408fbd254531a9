import type { Purposes } from '../providers/purpose.ts'

/** What people sign in at providers for: each feature that uses their accounts adds its handler. */
export const PURPOSES: Purposes = {}
