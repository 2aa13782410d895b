import { createHash } from 'node:crypto'
import { type DefinitionNode, type DocumentNode, Kind, print, visit } from 'graphql'
import { findOperation, type Operation } from '../../engine/operation/operation.ts'

/**
 * Returns the SHA-256, in hexadecimal, of an operation's normalised document: the operation with the fragments that it
 * uses, by name, and empty values in place of literals. Documents that differ only in literals have the same hash, and
 * a literal cannot be guessed from it.
 * @returns null when the document holds no such operation
 */
export function documentHash(document: DocumentNode, operationName: string | undefined): string | null {
  const text = normalisedDocument(document, operationName)
  return text === null ? null : createHash('sha256').update(text).digest('hex')
}

/** Returns the text of an operation's normalised document (`documentHash`); null when the document holds no such operation. */
export function normalisedDocument(document: DocumentNode, operationName: string | undefined): string | null {
  const operation = findOperation(document, operationName)
  return typeof operation === 'string' ? null : normalised(operation)
}

/** Returns the text of an operation without literals and unused fragments. */
function normalised({ definition, fragments }: Operation): string {
  const used = new Set<string>()
  const definitions: DefinitionNode[] = [definition]
  const collect = (node: DefinitionNode) =>
    visit(node, {
      FragmentSpread({ name }) {
        const fragment = fragments.get(name.value)
        if (!fragment || used.has(name.value)) return
        used.add(name.value)
        definitions.push(fragment)
        collect(fragment)
      },
    })
  collect(definition)
  const [first, ...others] = definitions
  const byName = others.sort((one, other) => (nameOf(one) < nameOf(other) ? -1 : 1))
  return [first!, ...byName].map(node => print(withoutLiterals(node))).join('\n')
}

const nameOf = (node: DefinitionNode): string => ('name' in node ? (node.name?.value ?? '') : '')

const withoutLiterals = (node: DefinitionNode): DefinitionNode =>
  visit(node, {
    IntValue: each => ({ ...each, value: '0' }),
    FloatValue: each => ({ ...each, value: '0' }),
    StringValue: each => ({ ...each, value: '', block: false }),
    ListValue: each => ({ ...each, values: [] }),
    ObjectValue: each => ({ kind: Kind.OBJECT, loc: each.loc, fields: [] }),
  })
