/** The tabs that GraphiQL opens with: operations that run unchanged, or after filling in an id. A test validates them. */
export const exampleTabs: { query: string; variables?: string }[] = [
  {
    query: `# The clients, and what they are doing now
query Clients {
  clients(limit: 20) {
    total
    rows {
      id remark verifyKey
      enabled expiresAt
      runtime { connected address connections rate }
    }
  }
}
`,
  },
  {
    query: `# A new client: give its verifyKey to the agent
mutation NewClient($input: CreateClientInput!) {
  createClient(input: $input) { id verifyKey remark }
}
`,
    variables: JSON.stringify({ input: { remark: 'office' } }, null, 2),
  },
  {
    query: `# A tunnel to it; any free port
mutation NewTunnel($input: CreateTunnelInput!) {
  createTunnel(input: $input) {
    id port targets
    runtime { running error }
  }
}
`,
    variables: JSON.stringify({ input: { clientId: 1, mode: 'TCP', targets: ['127.0.0.1:22'] } }, null, 2),
  },
  {
    query: `# The tunnels with their clients
query Tunnels {
  tunnels(limit: 20) {
    total
    rows {
      id mode port targets enabled
      client { id remark }
      runtime { running error connections rate }
    }
  }
}
`,
  },
  {
    query: `# A domain that is led to a client
mutation NewHost($input: CreateHostInput!) {
  createHost(input: $input) { id host location scheme targets }
}
`,
    variables: JSON.stringify({ input: { clientId: 1, host: 'app.example.com', targets: ['127.0.0.1:8080'] } }, null, 2),
  },
  {
    query: `# Why does a domain not answer? Every gate in order, with a try of the target through the agent
query Diagnosis($host: String!) {
  diagnoseHost(host: $host, scheme: HTTP, probe: true) {
    rule { id host location client { id remark } }
    stoppedBy { name explanation remedy }
    gates { name outcome explanation }
    probes { target reached milliseconds error }
  }
}
`,
    variables: JSON.stringify({ host: 'app.example.com' }, null, 2),
  },
];
