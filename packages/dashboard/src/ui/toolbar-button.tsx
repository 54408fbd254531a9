import { Button, type ButtonProps, createPolymorphicComponent } from '@mantine/core'
import { forwardRef, type ReactNode } from 'react'
import classes from './toolbar-button.module.css'

interface ToolbarButtonProps extends Omit<ButtonProps, 'leftSection'> {
  icon: ReactNode
}

/** A button above a list: on a phone, only screen readers get its label, so that all buttons fit in a row. */
export const ToolbarButton = createPolymorphicComponent<'button', ToolbarButtonProps>(
  forwardRef<HTMLButtonElement, ToolbarButtonProps>(function ToolbarButton({ icon, children, ...props }, ref) {
    return (
      <Button ref={ref} variant="default" leftSection={icon} classNames={classes} {...props}>
        {children}
      </Button>
    )
  }),
)
