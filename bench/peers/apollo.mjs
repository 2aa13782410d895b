// @apollo/gateway behind @apollo/server, as its documentation starts it. Arguments: the supergraph's file.
// Plain JavaScript, because the types of these packages are not there until somebody installs them here.
import { readFileSync } from 'node:fs'
import { ApolloGateway } from '@apollo/gateway'
import { ApolloServer } from '@apollo/server'
import { startStandaloneServer } from '@apollo/server/standalone'

const gateway = new ApolloGateway({ supergraphSdl: readFileSync(process.argv[2], 'utf8') })
const server = new ApolloServer({ gateway })
const { url } = await startStandaloneServer(server, { listen: { port: 0, host: '127.0.0.1' } })
process.send({ port: Number(new URL(url).port) })
process.on('disconnect', () => process.exit())
