import { type ArgumentNode, visit } from 'graphql'

/** What client variables are called towards subgraphs: the planner declares variables of its own beside them. */
export const variablePrefix = 'v_'

/** An argument of a client with its variables under their private names. */
export const withPrivateVariables = (argument: ArgumentNode): ArgumentNode =>
  visit(argument, { Variable: node => ({ ...node, name: { ...node.name, value: variablePrefix + node.name.value } }) })

/** A subgraph's sentence with variables as the client calls them. */
export const withClientVariables = (message: string): string => message.replaceAll(`$${variablePrefix}`, '$')
