import { type ArgumentNode, visit } from 'graphql'

/** Prefix of client variables in fetches: the planner declares its own variables beside them. */
export const variablePrefix = 'v_'

/** Returns a client's argument with private names for its variables. */
export const withPrivateVariables = (argument: ArgumentNode): ArgumentNode =>
  visit(argument, { Variable: node => ({ ...node, name: { ...node.name, value: variablePrefix + node.name.value } }) })

/** Matches a variable, or the path of a mistake within one: `at "v_input.scheduledAt"`, as graphql-js writes them. */
const named = new RegExp(`(\\$| at "|^")${variablePrefix}(?=\\w)`, 'g')

/** Translates the variables in a subgraph's message to the client's names. */
export const withClientVariables = (message: string): string => message.replaceAll(named, '$1')
