import { expect, test } from 'vitest'
import { signed } from './sign.ts'

/** The examples of the documentation of S3, "Signature Calculations for the Authorization Header". */
const CREDENTIALS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
}
const AT = new Date('2013-05-24T00:00:00Z')
const HOST = 'https://examplebucket.s3.amazonaws.com'

test.each([
  [
    'a GET with a range',
    { method: 'GET', url: `${HOST}/test.txt`, headers: { range: 'bytes=0-9' }, body: '' },
    'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  ],
  [
    'a PUT',
    {
      method: 'PUT',
      url: `${HOST}/test%24file.text`,
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      body: 'Welcome to Amazon S3.',
    },
    '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  ],
  [
    'a query without a value',
    { method: 'GET', url: `${HOST}/?lifecycle`, headers: {}, body: '' },
    'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
  ],
  [
    'a query with values',
    { method: 'GET', url: `${HOST}/?max-keys=2&prefix=J`, headers: {}, body: '' },
    '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
  ],
])('%s has the signature of the documentation', (_, { method, url, headers, body }, signature) => {
  const { authorization } = signed({ method, url: new URL(url), headers, body: Buffer.from(body) }, CREDENTIALS, AT)
  expect(authorization).toMatch(
    new RegExp(`^AWS4-HMAC-SHA256 Credential=${CREDENTIALS.accessKeyId}/20130524/us-east-1/s3`),
  )
  expect(authorization).toContain(`Signature=${signature}`)
})
