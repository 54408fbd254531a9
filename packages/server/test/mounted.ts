import { execFileSync } from 'node:child_process'
import { closeSync, ftruncateSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdtemp, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small file system, to fill up or to mount read-only. */
export interface Mounted {
  directory: string
  /** Fills the disk, except for some bytes. */
  fill(freeBytes?: number): void
  free(): void
  makeReadOnly(): void
  unmount(): Promise<void>
}

/** Why nothing can be mounted here; null if it can. */
export const CANNOT_MOUNT = (() => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'only root on Linux can mount a file system'
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], { stdio: 'pipe' })
    return null
  } catch (error) {
    return `no file system can be mounted here: ${(error as Error).message}`
  }
})()

export async function mountSmall(megabytes: number): Promise<Mounted> {
  const directory = await mkdtemp(join(tmpdir(), 'cds-mount-'))
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=755`, 'none', directory])
  const filler = join(directory, 'filler')
  return {
    directory,
    fill: (freeBytes = 0) => {
      const file = openSync(filler, 'a')
      let size = 0
      for (const bytes of [1_000_000, 512]) {
        const block = Buffer.alloc(bytes)
        try {
          for (;;) size += writeSync(file, block)
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
        }
      }
      if (freeBytes > 0) ftruncateSync(file, size - freeBytes)
      closeSync(file)
    },
    free: () => rmSync(filler),
    makeReadOnly: () => execFileSync('mount', ['-o', 'remount,ro', directory]),
    unmount: async () => {
      execFileSync('umount', ['--lazy', directory])
      await rmdir(directory)
    },
  }
}
