import { Anchor, Code, Table, Text, Title } from '@mantine/core'
import { lexer, type Token, type Tokens } from 'marked'
import { createContext, Fragment, type ReactNode, useContext } from 'react'
import { AnchorLink } from './link.tsx'
import classes from './markdown.module.css'
import { text } from './text.ts'
import { isWebAddress } from './text.tsx'

/**
 * Markdown as React elements. HTML in it stays text, links lead to web and mail addresses and to contacts only, and images are not
 * loaded: text from others must neither run code nor reveal who reads it.
 */
export function Markdown({ children, heading = 4 }: { children: string; heading?: HeadingOrder }) {
  return (
    <Heading value={heading}>
      <div className={classes.markdown}>{blocks(lexer(children))}</div>
    </Heading>
  )
}

type HeadingOrder = 2 | 4
/** The headings of a text come below those of the page around it, whatever levels the text uses. */
const Heading = createContext<HeadingOrder>(4)

function TextHeading({ isLarge, children }: { isLarge: boolean; children: ReactNode }) {
  return (
    <Title order={useContext(Heading)} size={isLarge ? 'h5' : 'h6'} dir="auto">
      {children}
    </Title>
  )
}

function blocks(tokens: readonly Token[]): ReactNode {
  // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
  return tokens.map((token, index) => <Fragment key={index}>{block(token as Tokens.Generic)}</Fragment>)
}

function block(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case 'heading':
      return <TextHeading isLarge={token.depth <= 2}>{inline(token.tokens)}</TextHeading>
    case 'paragraph':
      return <p dir="auto">{inline(token.tokens)}</p>
    case 'blockquote':
      return <blockquote>{blocks(token.tokens ?? [])}</blockquote>
    case 'code':
      return <Code block>{token.text}</Code>
    case 'hr':
      return <hr />
    case 'list':
      return list(token as Tokens.List)
    case 'table':
      return table(token as Tokens.Table)
    case 'space':
    case 'def':
      return null
    case 'text':
      return token.tokens ? inline(token.tokens) : token.text
    default:
      return inlineToken(token)
  }
}

function list({ ordered, start, items }: Tokens.List): ReactNode {
  const content = items.map((item, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
    <li key={index} dir="auto">
      {item.task ? (
        <input type="checkbox" checked={item.checked === true} disabled aria-label={text.markdown.task} />
      ) : null}
      {blocks(item.tokens.filter(({ type }) => type !== 'checkbox'))}
    </li>
  ))
  return ordered ? <ol start={start === '' ? 1 : start}>{content}</ol> : <ul>{content}</ul>
}

function table({ header, rows }: Tokens.Table): ReactNode {
  return (
    <Table withTableBorder withColumnBorders>
      <Table.Thead>
        <Table.Tr>
          {header.map((cell, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
            <Table.Th key={index}>{inline(cell.tokens)}</Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
          <Table.Tr key={index}>
            {row.map((cell, column) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
              <Table.Td key={column}>{inline(cell.tokens)}</Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  )
}

function inline(tokens: readonly Token[] | undefined): ReactNode {
  return (tokens ?? []).map((token, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: a text is always rendered as a whole
    <Fragment key={index}>{inlineToken(token as Tokens.Generic)}</Fragment>
  ))
}

function inlineToken(token: Tokens.Generic): ReactNode {
  switch (token.type) {
    case 'strong':
      return <strong>{inline(token.tokens)}</strong>
    case 'em':
      return <em>{inline(token.tokens)}</em>
    case 'del':
      return <del>{inline(token.tokens)}</del>
    case 'codespan':
      return <Code>{token.text}</Code>
    case 'br':
      return <br />
    case 'escape':
      return token.text
    case 'link':
      return link(String(token.href), inline(token.tokens))
    case 'image':
      return link(String(token.href), text.markdown.picture(String(token.text || token.href)))
    case 'text':
      return token.tokens ? inline(token.tokens) : withoutEntities(String(token.text))
    default:
      // HTML and unknown tokens stay as written.
      return token.raw
  }
}

function link(href: string, label: ReactNode): ReactNode {
  const [, contactId] = CONTACT_PAGE.exec(href) ?? []
  if (contactId !== undefined) {
    return (
      <AnchorLink inherit underline="always" to="/contacts/$contactId" params={{ contactId }}>
        {label}
      </AnchorLink>
    )
  }
  if (!isWebAddress(href) && !/^mailto:[^\s]+$/i.test(href)) return <Text span>{label}</Text>
  return (
    <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow" inherit underline="always">
      {label}
    </Anchor>
  )
}

/** The only pages of the dashboard that texts link to: answers about contacts do. */
const CONTACT_PAGE = /^\/contacts\/([0-9a-f-]{36})$/

const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }

/** The lexer escapes HTML, and React escapes it again. */
function withoutEntities(escaped: string): string {
  return escaped.replace(/&(amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity)
}
