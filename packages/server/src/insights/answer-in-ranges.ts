import { keptAnswer } from './kept-answers.ts'
import type { Asked } from './question.ts'
import type { Range } from './range.ts'
import { offeringSample } from './sample.ts'

export type AnswerInRanges<Part> = Part & { sample?: number; compare?: Part }

/**
 * The answer to a question: in its range, and in the one that it is compared with.
 * @throws ServiceError 400 `query_too_expensive`, which offers a sample
 */
export function answerInRanges<Part extends object>(
  asked: Asked,
  sent: object,
  answerIn: (range: Range) => Promise<Part>,
): Promise<AnswerInRanges<Part>> {
  const { range, compared, sample } = asked
  return keptAnswer(asked, sent, async () => {
    try {
      const answer = { ...(await answerIn(range)), ...(sample < 1 ? { sample } : {}) }
      return compared ? { ...answer, compare: await answerIn(compared) } : answer
    } catch (error) {
      throw offeringSample(error, sample)
    }
  })
}
