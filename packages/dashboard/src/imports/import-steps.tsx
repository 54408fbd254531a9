import { Stepper } from '@mantine/core'
import { text } from './text.ts'

export type Step = 'file' | 'mapping' | 'preview' | 'import'

const STEPS: readonly Step[] = ['file', 'mapping', 'preview', 'import']

interface ImportStepsProps {
  step: Step
  /** The steps that can be opened. */
  open?: readonly Step[]
  onStep?: (step: Step) => void
}

/** Where the wizard is, and the way to its other steps. */
export function ImportSteps({ step, open = [], onStep }: ImportStepsProps) {
  return (
    <Stepper
      component="nav"
      aria-label={text.steps.label}
      active={STEPS.indexOf(step)}
      size="sm"
      mb="lg"
      maw={820}
      onStepClick={(index) => onStep?.(STEPS[index] ?? 'file')}
    >
      {STEPS.map((name) => (
        <Stepper.Step
          key={name}
          label={text.steps[name]}
          allowStepSelect={open.includes(name)}
          {...(name === step ? { 'aria-current': 'step' as const } : {})}
        />
      ))}
    </Stepper>
  )
}
