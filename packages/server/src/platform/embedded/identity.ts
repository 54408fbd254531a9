import { stat } from 'node:fs/promises'

/**
 * Names a directory by what the kernel calls it: the same through every path and in every container, and never the same
 * for a copy. What a data directory needs outside itself bears this name, so that nobody takes another's for its own.
 */
export async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true })
  return `${dev.toString(36)}-${ino.toString(36)}`
}
