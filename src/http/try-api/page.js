// The page that tries the API: makes a form of each operation of openapi.json, and shows what a call answers.

const base = document.documentElement.dataset.base ?? '';
const find = (id) => document.getElementById(id);
const operations = new Map();

find('description').href = `${base}/openapi.json`;
find('operation').addEventListener('change', showForm);
find('call').addEventListener('submit', (event) => {
  event.preventDefault();
  call().catch((error) => { find('status').value = String(error); });
});
load().catch((error) => { find('status').value = String(error); });

async function load() {
  const { paths } = await (await fetch(`${base}/openapi.json`)).json();
  for (const [path, item] of Object.entries(paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (operation.deprecated) continue;
      operations.set(operation.operationId, { path, method: method.toUpperCase(), operation });
      find('operation').append(new Option(`${method.toUpperCase()} ${path}`, operation.operationId));
    }
  }
  showForm();
}

function chosen() {
  return operations.get(find('operation').value);
}

/** Name, schema, description and whether it is required, of each parameter in the query or the body. */
function parametersOf({ method, operation }) {
  if (method === 'GET') return operation.parameters;
  const schema = operation.requestBody?.content['application/x-www-form-urlencoded'].schema;
  return Object.entries(schema?.properties ?? {}).map(([name, value]) => (
    { name, schema: value, description: value.description, required: schema.required?.includes(name) ?? false }));
}

function showForm() {
  const { operation } = chosen();
  find('summary').textContent = operation.summary;
  find('parameters').replaceChildren(...parametersOf(chosen()).map(row));
  find('status').value = '';
  find('answer').textContent = '';
}

/** A parameter is sent when its box is ticked: absent and blank are not the same. */
function row({ name, schema, description, required }) {
  const sent = Object.assign(document.createElement('input'), { type: 'checkbox', checked: required, disabled: required, title: 'send it' });
  sent.dataset.sends = name;
  const field = inputFor(schema);
  field.id = `parameter-${name}`;
  field.addEventListener('input', () => { sent.checked = true; });
  const label = Object.assign(document.createElement('label'), { htmlFor: field.id, textContent: required ? `${name} *` : name });
  const line = document.createElement('tr');
  for (const content of [sent, label, field, description]) {
    const cell = document.createElement('td');
    cell.append(content);
    line.append(cell);
  }
  return line;
}

function inputFor({ type, enum: choices, format }) {
  const texts = type === 'boolean' ? ['true', 'false'] : choices;
  if (texts) {
    const select = document.createElement('select');
    select.append(...['', ...texts].map((text) => new Option(text, text)));
    return select;
  }
  return document.createElement(format === 'lines' ? 'textarea' : 'input');
}

async function call() {
  const { path, method } = chosen();
  const sent = [...document.querySelectorAll('[data-sends]')].filter((box) => box.checked).map(({ dataset: { sends } }) => [sends, find(`parameter-${sends}`).value]);
  const values = new URLSearchParams(sent);
  const token = find('token').value.trim();
  find('status').value = '…';
  const response = await fetch(`${base}${path}${method === 'GET' && sent.length > 0 ? `?${values}` : ''}`, {
    method,
    headers: { accept: 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(method !== 'GET' && { body: values }),
  });
  const text = await response.text();
  find('status').value = `${response.status} ${response.statusText}`;
  find('answer').textContent = pretty(text);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text; // a page, for one that is logged in
  }
}
