import { stat } from 'node:fs/promises'

/**
 * Names a directory by its device and inode: the same through every path and in every container, and different for a
 * copy. Everything that a data directory needs outside itself has this name, so that no service takes another's for
 * its own.
 */
export async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true })
  return `${dev.toString(36)}-${ino.toString(36)}`
}
