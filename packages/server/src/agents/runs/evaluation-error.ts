import { ServiceError } from '../../platform/errors.ts'
import { EvaluationError } from '../reasoning/reasoner.ts'

const ERROR_LENGTH_MAX = 500

/** Why a contact could not be evaluated, in words for users. Anything that was not written for them is in the log. */
export function messageOf(error: unknown): string {
  const isOurs = error instanceof EvaluationError || error instanceof ServiceError
  return isOurs
    ? storable(error.message.slice(0, ERROR_LENGTH_MAX))
    : 'The contact could not be evaluated. See the log of the service.'
}

/** An error may quote the model, whose text may contain characters that PostgreSQL cannot store. */
function storable(text: string): string {
  return text.replaceAll('\u0000', '\ufffd').toWellFormed()
}
