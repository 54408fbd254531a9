import { Anchor, type AnchorProps, Button, type ButtonProps } from '@mantine/core'
import { createLink } from '@tanstack/react-router'
import type { ComponentPropsWithRef } from 'react'

type LinkOf<Props> = Props & Omit<ComponentPropsWithRef<'a'>, keyof Props>

/** A link to a page of the dashboard, with the types of its path, parameters and search. */
export const AnchorLink = createLink((props: LinkOf<AnchorProps>) => <Anchor {...props} />)

/** Such a link that looks like a button. */
export const ButtonLink = createLink((props: LinkOf<ButtonProps>) => <Button component="a" {...props} />)
