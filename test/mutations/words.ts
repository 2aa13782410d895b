import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

/** What is called with words for people: their wording is read by reviewers, and no test should copy it. */
const speakers = new Set(['DomainError', 'Error', 'StartError', 'GrantFailure', 'OutboundFailure', 'GraphQLError', 'UpstreamFailure'])
const levels = new Set(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])

interface Node {
  readonly type: string
  readonly name?: string
  readonly value?: unknown
  readonly callee?: Node
  readonly property?: Node
  readonly quasis?: readonly { readonly value: { readonly raw: string } }[]
}

/** A place in the syntax tree, as Babel hands it over. */
interface Path {
  readonly node: Node
  findParent(matches: (parent: Path) => boolean): Path | null
}

const nameOf = (callee: Node | undefined): string => callee?.name ?? callee?.property?.name ?? ''

/** Whether a call or a construction tells something to people. */
const speaks = ({ type, callee }: Node): boolean =>
  (type === 'NewExpression' && speakers.has(nameOf(callee))) || (type === 'CallExpression' && callee?.type === 'MemberExpression' && levels.has(nameOf(callee)))

const isSentence = (text: string): boolean => /\S\s+\S/.test(text)

/** Leaves the wording of errors and log lines alone; everything else about them (whether, which code, when) is mutated. */
export const strykerPlugins = [
  declareValuePlugin(PluginKind.Ignore, 'words', {
    shouldIgnore(path: unknown) {
      const { node, findParent } = path as Path
      const text =
        node.type === 'StringLiteral' ? String(node.value) : node.type === 'TemplateLiteral' ? node.quasis!.map(({ value }) => value.raw).join(' x ') : ''
      if (!isSentence(text)) return undefined
      return findParent.call(path, parent => speaks(parent.node)) ? 'words for people' : undefined
    },
  }),
]
