import { type ArgumentNode, visit } from 'graphql'

/** What client variables are called towards subgraphs: the planner declares variables of its own beside them. */
export const variablePrefix = 'v_'

/** An argument of a client with its variables under their private names. */
export const withPrivateVariables = (argument: ArgumentNode): ArgumentNode =>
  visit(argument, { Variable: node => ({ ...node, name: { ...node.name, value: variablePrefix + node.name.value } }) })

/** A variable, or the place of a mistake within one: `at "v_input.scheduledAt"`, as graphql-js writes them. */
const named = new RegExp(`(\\$| at "|^")${variablePrefix}(?=\\w)`, 'g')

/** A subgraph's sentence with variables as the client calls them. */
export const withClientVariables = (message: string): string => message.replaceAll(named, '$1')
