import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { qrCode } from './qr-code.ts'

const drawn = (text: string) => qrCode(text)?.map((row) => row.map(Number).join('')) ?? []
const hashOf = (text: string) => createHash('sha256').update(drawn(text).join('\n')).digest('hex')

// Both expected results were made with another encoder and decoded with a third program.
test('short text is encoded module for module as by other encoders', () => {
  expect(drawn('hello')).toEqual([
    '111111100110001111111',
    '100000101100001000001',
    '101110100101101011101',
    '101110100011001011101',
    '101110101100101011101',
    '100000100000101000001',
    '111111101010101111111',
    '000000000011100000000',
    '101010100101000010010',
    '001011000010001000011',
    '010100101110100011111',
    '110010000000001000010',
    '011010110010101010000',
    '000000001111010100111',
    '111111100011011100111',
    '100000100011110110000',
    '101110101011011100011',
    '101110100100001100110',
    '101110101110100010101',
    '100000100100001010010',
    '111111101110101100011',
  ])
})

test('an otpauth address, with blocks, alignment and version bits, is encoded as by other encoders', () => {
  const address =
    'otpauth://totp/Customer%20Data%20Service:ada%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Customer%20Data%20Service&digits=6&period=30'
  expect(drawn(address).length).toBe(49)
  expect(hashOf(address)).toBe('cf824931aeb50a3ef39e231521c4e8b879dec6554c0b565f2604bf5409b808c4')
})

test('text that is too long is rejected', () => {
  expect(qrCode('x'.repeat(666))?.length).toBe(97)
  expect(qrCode('x'.repeat(667))).toBeNull()
  expect(qrCode('é'.repeat(334))).toBeNull()
})
