import { type ASTNode, type ConstDirectiveNode, type FieldDefinitionNode, Kind, visit } from 'graphql'
import { policies } from '../router/access/policies.ts'
import { isScope, scopes } from '../subgraphs/scopes.ts'
import { at, inFile, type Mistake } from './source/mistake.ts'
import { rules } from './source/pages.ts'
import { publicFieldsFile, readPublicFields } from './source/public-fields.ts'
import { rootTypes, type SubgraphSources } from './source/sources.ts'

/** Minimum characters of a reason: a shorter text explains nothing. */
const shortestReason = 20

/**
 * Checks the SDL's access rules: every scope and policy must exist, and every root field must have a rule, or a reason
 * in the list of public ones.
 * @returns one mistake for each, with file and line
 */
export async function accessMistakes(root: string, sources: readonly SubgraphSources[]): Promise<readonly Mistake[]> {
  const mistakes: Mistake[] = []
  const listed = await readPublicFields(root, mistakes)
  const free = new Set<string>()
  const written = new Set([...sources.flatMap(({ nouns }) => nouns.map(({ document }) => document)), ...sources.flatMap(({ shared }) => shared)])
  for (const node of written) mistakes.push(...unknownNames(node))
  for (const { coordinate, field } of sources.flatMap(rootFieldsOf)) {
    if (field.directives?.some(({ name }) => rules.has(name.value))) continue
    free.add(coordinate)
    if (field.loc && !listed.some(each => each.coordinate === coordinate))
      mistakes.push(
        at(
          field.loc,
          'ROOT_FIELD_WITHOUT_RULE',
          `${coordinate} may be called by anyone: give it @requiresScopes, @policy or @authenticated, or enter it in ${publicFieldsFile} with the reason`,
        ),
      )
  }
  for (const { coordinate, because, line } of listed) {
    const mistake = (code: string, text: string) => mistakes.push({ ...inFile(publicFieldsFile, code, text), line })
    if (because.trim().length < shortestReason) mistake('PUBLIC_FIELD_WITHOUT_REASON', `${coordinate}: say in a sentence why anyone may call it`)
    if (!free.has(coordinate)) mistake('PUBLIC_FIELD_STALE', `${coordinate} is no root field without a rule of its own: take the entry out`)
  }
  return mistakes
}

const rootFieldsOf = ({ nouns }: SubgraphSources): { readonly coordinate: string; readonly field: FieldDefinitionNode }[] =>
  nouns.flatMap(({ document }) =>
    document.definitions.flatMap(node =>
      (node.kind === Kind.OBJECT_TYPE_EXTENSION || node.kind === Kind.OBJECT_TYPE_DEFINITION) && rootTypes.has(node.name.value)
        ? (node.fields ?? []).map(field => ({ coordinate: `${node.name.value}.${field.name.value}`, field }))
        : [],
    ),
  )

function unknownNames(node: ASTNode): readonly Mistake[] {
  const mistakes: Mistake[] = []
  visit(node, {
    Directive(directive) {
      const kind = directive.name.value
      if (kind !== 'requiresScopes' && kind !== 'policy') return
      const names = namesIn(directive as ConstDirectiveNode)
      if (names.length === 0 && directive.loc) mistakes.push(at(directive.loc, 'RULE_EMPTY', `@${kind} names nothing, so nobody would get past it`))
      for (const { value, loc } of names) {
        if (!loc || (kind === 'policy' ? Object.hasOwn(policies, value) : isScope(value))) continue
        mistakes.push(
          kind === 'policy'
            ? at(loc, 'POLICY_UNKNOWN', `"${value}" is no policy of router/access/policies.ts: there are ${Object.keys(policies).join(', ')}`)
            : at(loc, 'SCOPE_UNKNOWN', `"${value}" is no scope of subgraphs/scopes.ts: ${knownNear(value)}`),
        )
      }
    },
  })
  return mistakes
}

/** Returns every text within a directive's arguments. */
function namesIn(directive: ConstDirectiveNode) {
  const found: { readonly value: string; readonly loc: ASTNode['loc'] }[] = []
  for (const { value } of directive.arguments ?? [])
    visit(value, {
      StringValue: node => {
        found.push({ value: node.value, loc: node.loc })
      },
    })
  return found
}

function knownNear(scope: string): string {
  const [slug = ''] = scope.split(':')
  const known = Object.hasOwn(scopes, slug) ? Object.keys(scopes[slug as keyof typeof scopes]) : null
  if (!known) return `write the service before it, as in publishing:posts.read; there are ${Object.keys(scopes).join(', ')}`
  return known.length > 0 ? `${slug} has ${known.join(', ')}` : `${slug} has none`
}
