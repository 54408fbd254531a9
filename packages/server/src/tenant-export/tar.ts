import { type FileHandle, open } from 'node:fs/promises'

const BLOCK_BYTES = 512
const LARGEST_OCTAL = 8 ** 11 - 1

/** A tar file that is written sequentially; the size of an entry need not be known in advance. */
export interface TarFile {
  /** Adds a file with the source's content. @returns its size. */
  add(name: string, modified: Date, source: AsyncIterable<Buffer>): Promise<number>
  /** Finishes the file. @returns its size. */
  finish(): Promise<number>
  close(): Promise<void>
}

/** Creates a tar file that only its owner can read. */
export async function createTar(path: string): Promise<TarFile> {
  const file = await open(path, 'w', 0o600)
  let position = 0
  return {
    add: async (name, modified, source) => {
      const headerAt = position
      position += BLOCK_BYTES
      for await (const chunk of source) position += await writeAll(file, chunk, position)
      const size = position - headerAt - BLOCK_BYTES
      const padding = (BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES
      position += await writeAll(file, Buffer.alloc(padding), position)
      await writeAll(file, header(name, size, modified), headerAt)
      return size
    },
    finish: async () => {
      position += await writeAll(file, Buffer.alloc(2 * BLOCK_BYTES), position)
      await file.sync()
      return position
    },
    close: () => file.close(),
  }
}

async function writeAll(file: FileHandle, bytes: Buffer, position: number): Promise<number> {
  for (let written = 0; written < bytes.length; ) {
    const { bytesWritten } = await file.write(bytes, written, bytes.length - written, position + written)
    written += bytesWritten
  }
  return bytes.length
}

/** The header of an entry in the format of POSIX.1-1988 (ustar). */
function header(name: string, size: number, modified: Date): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES)
  const octal = (value: number, length: number, at: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  block.write(name, 0, 100, 'utf8')
  octal(0o600, 8, 100)
  octal(0, 8, 108)
  octal(0, 8, 116)
  // Beyond 8 GiB, the size is stored in base 256, which every current reader supports.
  if (size <= LARGEST_OCTAL) octal(size, 12, 124)
  else {
    block.writeUInt8(0x80, 124)
    block.writeBigUInt64BE(BigInt(size), 128)
  }
  octal(Math.floor(modified.getTime() / 1000), 12, 136)
  block.fill(' ', 148, 156)
  block.write('0', 156, 'latin1')
  block.write('ustar\0', 257, 'latin1')
  block.write('00', 263, 'latin1')
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return block
}
