import { stat } from 'node:fs/promises'

/**
 * Names a directory by its device and inode, which are the same through every path and in every container, but
 * different for a copy. Everything outside a data directory that belongs to it has this name, so that no service uses
 * another's.
 */
export async function identityOf(directory: string): Promise<string> {
  const { dev, ino } = await stat(directory, { bigint: true })
  return `${dev.toString(36)}-${ino.toString(36)}`
}
