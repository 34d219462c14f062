// Claude's memory tool with Loci behind it: handlers for `betaMemoryTool`. Each command is executed by the server,
// whole or not at all.

const COMMANDS = ['view', 'create', 'str_replace', 'insert', 'delete', 'rename'];

/** The memory of whoever the key belongs to, or with `store` the store of a chat, a user or another agent. */
export function lociMemory({ url = process.env.LOCI_URL, key = process.env.LOCI_KEY, store } = {}) {
  const elsewhere = store ? { store, dialect: 'native' } : {};
  const execute = async (command) => {
    const response = await fetch(`${url.replace(/\/$/, '')}/v1/tools/memory`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...command, ...elsewhere }),
      signal: AbortSignal.timeout(30_000),
    });
    if (!response.ok) throw new Error(`the memory server answered ${response.status}`);
    const answer = await response.json();
    // The runner writes `Error: ` before what is thrown.
    if (answer.is_error) throw new Error(answer.content.replace(/^Error: /, ''));
    return answer.content;
  };
  return Object.fromEntries(COMMANDS.map((name) => [name, execute]));
}
