export type * from '../../../client/src/generated/types.gen.ts'
